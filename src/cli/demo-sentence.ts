// The sentence that `voxgate demo` says: speech of a synthesiser, which nobody recorded, and no licence rests on it. It is
// test/fixtures/audio/thermostat.wav without its silence, 8 kHz and μ-law as on a telephone, made by
//   sox -R -D thermostat.wav -t ul -r 8000 -c 1 - trim 0.4 3.1 | base64 -w 160
import type { Encoding } from '../api/listen.ts';

/** What is said. */
export const SENTENCE = 'set the temperature to twenty one degrees';
export const SENTENCE_RATE = 8_000;
export const SENTENCE_ENCODING: Encoding = 'mulaw';
/** "set the temperature to" has been said by then, the rest has not. */
export const SENTENCE_MIDDLE_SECONDS = 2.1;

const BEFORE_SECONDS = 0.4;
const AFTER_SECONDS = 1.2;
const MULAW_SILENCE = 0xff;

/** The sentence with silence around it, one byte a sample. */
export function sentenceAudio(): Uint8Array {
  const speech = Buffer.from(SPEECH, 'base64');
  const silence = (seconds: number) => Buffer.alloc(seconds * SENTENCE_RATE, MULAW_SILENCE);
  return Buffer.concat([silence(BEFORE_SECONDS), speech, silence(AFTER_SECONDS)]);
}

const SPEECH = `
////////////////////////////////////////////////////////////////////////////////////////////////////////////////fv5+/n7+fv5+/n7+fv5+/v///37+fv59/X39fPx8/Hz8ff76
4Ojf4PjdfODf6uLk+ezv9ODq3+To7+Tp6t3h2+/t5OXc2eTn3HTa5ejb8OTg+HrbcODib9505uZ25uLo4OPp3nXn52zg7+Dc+uXf6ujc3tzs9Obt8urm3uv823je6/zm4Ofv8Pjg7dt+5fh++PXl4vP27tzf+9jo
4d374N7s3PbY8OPa5OPd3unu6+Te2+7m7OT/43rX4OrzXd1t69pu33Rq2e3a5fho29l81eXm6fze7tzf99/p4e7q4ev46vPs3OHp6v/o7+nZ7+rt8fj09dvZ3t568+/53erq6OX59vvp3/bf+XTl4uXg5+Tq4uTj
79lu7t542/bn2eDo3fzu8Ovidu7r5/T0+PHce+Le+ezvft/Z7nt69PP63uXx3t/h7uLi2Obhb3Dfctx08fjd3vfn5Nby9WDob/jj5eJv7H3X5HXe/OvYYt7j89Lx2tzj3vLi8d3v23jr2e3PfOn94t3v7+jk/3z5
4t121efu9Gnu6fbh6PnVbtny3WvZ497qatv20t7e6dnb6d/uctfv8XPi8+/r/tT7/d/v6Nzq6vb/+X7f3+3i9/bb3Ora9Obn3N121+/n3t3h6v7j4HfW89vq7tn95u/oftzx6N7z6v3f4enc3uPa7eXtctz42Pp+
7ffecNPi3+rs4uPl2+X96eLr3ODi2vTd+eHo4ujl7+rr5vXqZO7kbN9t++TueOdkyenq4vnl7+T86V7e+fzlbPbfd+ty5u7q593y4+n14PPe3uHm3HfVfNTb3Pb++PPgbeV739527PN72+zc/fhn2f3k7ezncNpy
2Grn3PHe2Hvd5erf6e7l89/m6td4zvXp2Pvr127f7/beee/e4nTe+ezifuzccNx969727OPp6uv25OLY5efe49/n6uzo7t/e7/nc3HrVYNzy9uRt6uj57ufs3OXo5dxp13XY6+3fcNnn+Hnf393j8+fv9NLu5939
/eLm2urr83fp1OB55O9XPD4+U1RN0bq4ydbOckY0NUVMVmnBur7J1tliRj5EUFZh3srEzNTd7F5MTE9bX3vd0NDX3uZ7XlZWXmBuupuresnTTSUnKT1IPNKwrbzMyORHMzFASE9ZxLq8xtDRckg+Qk1QWubKxMrQ
2OBgTEtPV1tr3dHO2Nnj71xZU19ZcNadnem/xG0mIyctRjZosqq1w77PSzUuOj9GTcq4ur7JyOlKPD5HSU70zMHHys/WaE1JTE9TX+HRztHU2O1kVFdUW1t9tpameLjJQh8kJDM8NMitq7u+vOlALi89PUJZvLi6
v8TJY0E8QUZFVNzGw8jIzdtVS0lNTFNr2M/O0c/c+lpWVFRWYfSslq/Xts01HyQkODU6u6qtu7q+aDssMjs7Quu4ubrAv85UPjxBQkVd0sPExsbN6k9MSUxKV33T0c3PzuF0V1dRU1Vs8amSscyxzS8dISE7Lji0
qKy6s71qNSozODU61bW5uLy5y007PT87P1zMw8TCv8j4TUxIR0RU9dLQzMnM3GhcU1FLV17iuJGdzLHDRR0cHS0xLcWopbG1t88+KCs0NjpTubKyu7u/aT02PDw+St2/vr/Bw9RWR0RGRklk2srMyczO+l1PUUxQ
Vu/ippCt1rrVLxwdHz0wOLemqLi7wuk2Jy44PT7st7G0wL/KWTo3PUBGUdS+vsLHyd9SRERJS09u1snMy9HTcltMUk5YWObfopGuxcXiLxwcHz8yPLqnprS9y984Jyw2QUL6uq+xv8TNZTw1OkFLUty/vL/Jzd5b
REBGTVJo28jJytXV/F9MTk5aWvDnp5CowbfHNh0bHTcwMseopK+5xMxDKSoxPT5VwbCuu8HI4UI1Nj1ITXDGu7vFytZ5ST9BSk9c7s3Gx87W4mhSSk5QYF/fvZSav7S7byQcGik4LUyxpKmyvsfeMCgsNj9E37qt
sr3Gz188NDdBTFXdwbq9x9DhX0U/QU1WbODKxsfT2vxlTUxLWV307amRo7zC8TsgGxsyOjrSraOpt93kTy0pLDtNbc64rbO/2npNOzQ3R13zz8C6vcrla1VFQEJPZeXZysfI1uhkXU5NTFxp4uWrkqG7xmE8Ihsa
Lz0+1rCkp7TmcVEvKSo3T+vOu66xvNpiTT43N0Nd4s/EvL3H419TSENBTWPf183JyNHqYlhRTU5Vd+zYvZaZtMBSSigdGCU/P/29qKWtzlFWOCwpL0veysKyr7fOVUpAOjU8U9jJxb+9wdhXS0dGQ0le3MzMyszO
6mBOT01VU/ztzdagk6e8V0IwIRobOE3jxK+lqLpGPzswLCw+2ry9urO2w1M+PD08PU3bwL7BxMjWWkVBRUxRZ93JxsnS3/VcT0lPVnn+2NrLypqWr8g9OisgGR9P17y5rais1DU0MjAvMlO+sbe5u8DePzY3P0dP
78e6u8PW7F1KPz9JYufWzcfHz+5bU05OTVtv1tfO3NDYm5SovzU0KyEZHTjXsrWuqavCNy0sLzEzTcCur7a+yepANTM8S2Paxrq6wNlgT0ZAP0ln18zJyMnT9lJNSk9PY/rS0M3a13mpk6XKQzgzJR4cNtTBurWr
rb49LzUzNDRIx7Szvb7F2kk4Nz5MWPfKvrvF1nFcTENBS2Pe1M3KytL1W1FRTlRa7d3P2NLm3eOblbbePTsiGhog6ca9sKektV0vLjIrLTjNtbC0ubjKTDYyOT5JXMu5uLzM22VLPjxDVvXXzMPDyuRfU0xKSVVu
2NTN0s7n8uSalb5MKi0rIR4nx7u/vbq2xVY9P05JTlvl2dzq+P59/X39ff19/X39ff19/n7+fv5+////////fv5+/n7+fv//////////////////////////////////////////////////////////////////
////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////
////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////
/////////////////////////////////////////////////////////////////////////////37+fv5+/n39fPx55dne63T1cXNndd/r3+z3/Pnc3dzY2NjT0tTa297udXzz9uPi1Nbc2tre3+Lh6e/z6ufv
4+jp8uTt+uzy9+fi6+Dd6/b99mht4+/o5d3j5efm7nDt6eHm2tvf2+jg1+nr3N3g5uHl5vH96ebv8+vj7HXr8Xh+5Nzo4vnm6P5u3Or93+bd7fns6P3r5+fn3OHf5/N54/jm3uro4eZ95mz+ff765Xv84PXm3e7p
9+vtfeLl2np+52j8bXzh4fR64e3v6t7vZ21t+3h+33To1ebiz9Te1ufl5Wjs1eJ14dvqXmvR5fdm39r2XXbldVxc2/Xv39rT7WLu8e75bd3S5ufY23vh5evrZu73+N3yb+nsb+Pc4tv83t7f7OTt4t/+/+nn7t7m
2uvl6OF4+mph8fjnc+Ll4eft3t3n3/Te2u/v7uVz7dzX4N/n5PHt7PRr7XHu4uzY3t7i5nnm9eHk6e7h5+Xq6+bp4/Lo3N3l3+zrbv7p4+ze5OLf+t3X3OHhcP3x6eDs5eHj29vc2t3k7vXq7ezf297v8vfm/fzh
2t7p397j+v7u+mz06tze4uPh5e7n3uHi3t7b4uL5fP19/X39ff19/n7+fv5+/n7+////////////////////////////////////////////////////////////////////////////////////////////////
//////////////////////////////9+/n7+fv7/+fDs6enp5ePn9W5jXV5XU01MS05QUFVWZHzj49rf1dPRztTS3dne5X5qXltdWFhZXF9haGVebGp96eHe2tnd3OPo7+729fl0cWxsZ2jw2NDR0NTW0NLc5mpb
WlhSTktITU5TUlJWYvznfO7X1szP1N3X3ufi/vHv615bXlhfWlRVamx0+23s5OP15u3e3OTl5OLt7XFuaWxqeurVzs/R2dbT2OR1X11cV1FNSUtNUFFUVl1q9erk3tjW1dLU19ze5eTrfWxrX2BcWFlbYV9rZW90
9vXt5une4dzg4+rt7ffsemZybXja08/P2NvY0trobV5bWVVOTUlLT1JUVFhgeOzk397Z1dbU2NrY3OTm8W1tZlhcXVleZF5ha2Vr+3703+vp3eTe3OLp7fV09XNucHvXz83T29vY1d3wa11bWlRPSUpKT1VVVVdo
eObp49/c1c/R1Nnf3uPpb3diZWNjWllfXmpfY11tbfTk2tvj7uPi69xy6+rs73hu+tHRz9La2NfZ7vtdV1xXVE5LSExOU1dXXmrq4N/g3drU09XX3N3d4vZzZ2JiXF9gWVpfYW1sYm/u9OXp6d/e2+Dh9318fvrv
++Xg4eHu6Pbs9fn9e/5+fXV0cXd6/v747+3v+XRtbG1ub3V+7+np7fZ+eHNvbW5zffXx7/P0+fx5dXB0dX7/+fn09/b9/3h6fL2mqrfwODU1OC8vPGm7s7jB0dlrSz01O0juz8nHxsTJ4VZGREhQXWzj0cnJz+Np
WlZSUlRf9tvU1Nrf7XpjW1dbY3nt5ODe37ujqLd0MzExNi0uPum4sLjD0dhiRTkzO0zgzcnFwsHJ8k5DQ0lPW2rczMbI0epnWlVPT1Nk6djT1dne63NeV1daaHjq5t3d3cahnq3GNC0sLiolMVW5rK+6w8niQzYt
MT9sz8m/vLq+2k5APkJGTVjiycDAytt1XVFLSExY7tjPz9DV3f5dUlBVXWz24tvW2N+7nZ6v4i0sLC4mJTT9squxu8XH9T4xLDRF6s7Ivrq4v/BIPj5DRk1c18S+ws3hbVpOSEdNX+HUzs/Q1uFuV09QV2B1793Z
09rixp+crcsvLCwuKCQxX7Wrr7vFyek+MiwxRO3Mx766ub/rSD09Q0dPXtfEvsHN5WZXTkhHTWHf0M7P0tfnbFVPT1hj/unc2NXb5Xu0m6G0WSwsLS4lJzvRrqu0v8rMWjsvLDhP1MnEvru7yFxCPD9GTFd5zcG+
w9D0XFBKRklSfNfOzc7S2/tdUE5SW2r139fT19/2a7ubn8JUMjcvKiIkS722t768ucdKLjM8Rk5U3sW9w9jzd2NZUVVgfe3v8PP7fv//////////////////////////////////////////////////////////
////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////
////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////
////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////
/////////////////////////////////////////////////////////////37+fv5+/n7+fv5+/n7+fv5+//9+/n7+ff18/Hz7e/p6+Xn5ePj763VX1vrp5e7o8OXr6PXkfuVy5GR76+3XWdvX7tzaelPy6N94
9ul42/Dsb+355Obp52rs7vPc5t/d3npf2fbo5+7tdvXs9uz97u707v7s7unu7+rf8/Lv437y/Pjs+vPu+vnpeO7w63Xn7vbu6vHu72nqavNy59712erl5+Tp9+X15/T+6ufu5+/+4nrj5+f08+7q8/Xl5vzm+O3q
7eb24nzfYun063vm6u7g8e55Z+/g69fz7W3o4Ob82m329+z15X5t1+z17t152GLtdmjrfdp1YORzfthx5d7o7+dhee/r8Ovqdup24Hzs9+Xe6ezp3el+5t7h7WbraWHy2/Zq4e3n5dzg3mvb3Pv5/nzw8Wrecdh8
4u3n4+9k5fZWavjkb9zb1/3h2dJl6ednfHv+debl4nDu4Ot8d9/fd+vv8+d4c97i9mjf5fF99ezzbF/e3uzx6OXlXe/Y4/3h4ubqbOP77erv6eHv4fDd5W1zeP5n/nzcfvP5/vR78uXraGh++HTe5HvW2Xjn62o/
PT5JXErtvrfB1s7iTTgyP0pTXMu6vMTU1v5LP0BNVlvqzsTK0dvkaE9LTlhea+PTz9Xd4fpmVlhZZGPz69m+m6JfwtNMJCMnM0s52a+ruMjF30UyLz1DS1fDt7vBzc1yRjw/Sk1V4snByc3U3l5LSk1TVm3ezs/R
2dp7YVFYVF9d7OjU05+Y08rEbykfJCpJNU+xqbDCvs1NMys4P0JLyrW4vMfG4Ug7PUZGTPrJwMXJzNVqSklKTk5h4s7Oz9HW615VUlZTYGra4tO8lJ9PuMxAHh8gMj0vw6moury86D0rLjw6PmK3tri+v8ZXPTpB
QEJV08HCxsXJ409JSUlJT/XWzc/LztlqWlRTT1Nl7dzb1q2QpvW40TYbHh84MTK6qai4ub3fOigvODo9a7e0tb+9xlk8OD4/Qk/Wv7/DxsfdUkdGSUlNb9bLzczO1HtYUVBRUF9+2NvTtJKf4rzXPx0dHTM4MsGq
pbC6wtpBKSszPEBXvLKvvMHIez81OT9HTu/BvL7HytdhR0BFS09e38vIy87X4lxRS1NPYmHY3cvQmpW/wNdfJx0cKU0yT7WmqrrK2/UyKC47S0vZu6+1xs3ZXTw2O0dVXdrBvL/N1+5eRkFGUl113cvIy9jhfl9P
TFBabHbd2c+6lZzEwmJFJB0bLD8517SmqbPSdFowKiw3TGfOva6zvtJzUT43N0Na99HEvL3I3WlYSEJCTV/o2s3IyNLkaVxRTU1WbfDb2tC5lZy+xVVEJh0YKkw+6bmop6/eU142LCo0TubOw7GwutVdT0I6Nj5Z
3s7Ivr3E3FxSSkZCS17d087Lys/mYVVST1FUdOzT3M/JmZe1x0ZHKx8ZIkhK8cispqzOQko8LysvTM6/w7izuM5LQT8/Oj5Wz8HCxMTI3FFFRElNUWvYyMnM19x8XExMT19r697Q0dXstJSevWI5OSgeGi7yyry5
q6mzSDI1MzMvO963s7u7v8hbOzY7R01f28C6vszsaVNHQENT79fPzMjM2WNVTlFPVl7p2M/U1+HnZ7eXnbFtNTcsIxohPMSvtbavrLhKMCswODo9V76xr7nI1fVOOzQ2QGHdz8i/vL/OaE1IR0dHTWLZysjKztTd
/FpOS05VZHDo39PGopmfq20zKywoHx8mOMawrq+vrrK8XTYtLDA4QEttx7ixsrvJ8VpLRD4+Qk5u3NLP0dPX3u9uZWNnbXR7fv//////////////fvDYysK/v8HGys3U7lxLQz4+Pj4/P0JFSU9XXmd18uTb1dDP
zs/Q0tfd6XplW1ZSUFBRVFleaHjy6eTh39/h5Ofq7e/y8/b3+/156s3AvLu8wMfMz9n7W0xFQUBBQUFCQ0ZKTlRbYW745dvU0M/Pz9HU2eDvcWJbV1RTU1VYXGNse/Ts6ebl5ebn6ers7e7u8PP5/nfuzsG8u7y/
xsrO1e5eTUVBP0BAQEFCRUlOVVxjcfTk2tTQz8/P0dXZ3+11ZFxXVVNTVFdbYGl2+O3p5eTj5OXn6evt7vDy9/t9eHvXxb27u73DyMzQ4GhSSEI/QEBAQEJER0xSWV9r/+re19LPz8/Q09fc5/1qXllWVFNUVlle
ZW/+8Orn5OPj5ebo6uzt7/H1+f56c/jQwry7vL7Eyc3T6WFORkE/QEBAQEJESE1UW2Ju+efc1dHPz8/R09je6npmXVhVU1NUVlpfaHP57unl4+Pj5efp6+3u8PL2+v95c/3Tw727vL7Fyc3S5mRPR0E/QEBAQEJE
SE1UW2Jv+Ofc1tHQz9DR1Nje6n1oXllVVFNUVlpeZ3H77+nm4+Pj5Obp6+3u8PT2/P94dG/hyb+7vL3Bx8vO2nlYSkRAQEA/QEJFSU5WXWVtfPTr5eLi4+bp7O/2+/7/////////////////////////////////
////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////
////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////
//////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////5+/n7+fv5+/v//////fv5+/n7+ff19/X39ff19
/X39fv7/fvv29PrzfPJ17m7kT03q7+V643zy315N6Es8QFH6Xcvb0sjVw8/L2GJhTF9ZXGBd7dvGxMXP29jc29fY5u1v5tza19HR2dPV2uD0cfDv2ebwbXzg283jbXTZ4NzY7OHq5trd5Pvvcmnu5ett+G98/NnV
3PBy7t7hb1RcaujfXvzg5+PacvDd0vDmWl1mZ+r5zt7bcPb63/bs4N58WWldbFXf0tDY7HzVyt/obOvY5u5fVnDr3tvVzc/j915k9ONyb+Nv++7T2G173MzR3G5LTX3a09Hf1vLz1t7y++d31997ZVBW9OHez9bf
7+fu/vr79XBz+Xda8u7v3O3e8Ob0fmRZXVxtcvZu9/3739/89/H77+56amZ97m92e/vq6Pzvc+zm6XXr5uzre+js32xzZWv77+z+aG50cun84fLnePr8cXvs2vvre9vf4N/i8H7l/Oj58era393sfHJ29u3j9Ppv
fOvk5NbZ3vB1fePe4OXweXz9Ynjy29ri73Xu4N/l5/326OTya2v95ejr6fz97uDY199yXFhaWFFKRUNFTWLby8fJzc7Lys3dZlFLS01PUVNVWmnq18/O0tfa3N7m/GdcWVhaXF5gZWx+6+Le3t/i4+Xp8H5wa2hn
Z2dnaWx91sG5usPcfO3d71FAOjg7PkNFRklV7s/JycvLyMbHzt56Y1xXUExKSk1SWV9mduvd19XV1tfY2t/q/m5oZGBdXFxeY2lvd/zw6uXk5OXn6evdxry8x97n2dl1TEA/QkZGRERIUm7l3t7b0czLz9ni6Oz7
Z1pVVVhbXFxfavvq5eTi3t3d4uv1/nlwamRiZGhrbXB5+u/s6+zs7O3w93557cO2usbW0c7gWUY9PD5BPzs/TnPh3NfOyMPGztvk6ntcUExNUFVWV15+4dva2tjX19zp/3BrZl9cW15ka3B69uvk4uPm6Oru+nhu
bWpre8KyuMTLycniUj85PD4+PT5MZuTZ1czFxMjS2+HzZVJNTU9RUlZh/OPe29fU1Nnh6/d1Zl1bXF5fYml58+ro4+Lg5erx+HpwamhoaWrZsa/Awb28xVM6PEM5LzI8SU1PeMi9wcfDwMfdZFtYTUNDSlFUWnfa
0dHSzs3T4fN7aVtTVFdaW2F26+fg3dnc3+nr/nJkZWBkX2ppwae1vrK0wU9DOzwvKjA4OzxP08O/wrq4v87e51lHP0FFQ0ZPcuLbz8nGys/T2u5fV1RRTk5WXm1759vW19ja2+f3bWpfXVteYGhqx6exv7KzvlZD
OjswKS83OzxM1sO+wbu4vsze5ltIPz9FQ0VNbOLb0MrFyc7T2ethVlNRTk5UXmx86dvW1tjY3OP7c2ZkW11bZmB5crOmvbmwtc9KPjk6KyozOTo+Zcy/v7+3ucLU3vlPQz5BREJHVvLe183HxcvP1dx6W1VST01P
V2Nu9uLY1tbZ2N7peW1lX1tbXmJpbvrNqK7AsrO8W0M6OjIpLjY7PErZxL7Au7e9yt7mXkk/P0RDRExo4tvQysXIztLZ6WNWU1BPTVNda3nq3NbW19nb4/VxaGJcXFtjYnFv6N+tqcC2srnvRTw5NyosNTo8ROnH
vr++t7vG2+VoS0A+Q0RESl3m29LLxsbN0dfialhTUU9OUFtneO7d19XX2Nrf73NqY15cXmJqbH397Oe7udTKytL+Yl5gZ2h9ff19/X39fv5+/n7+fv7///////////5+/n7+fv//////////////////////////
////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////
////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////
////////////////////////////////////////////////////////////////////////////////////fv5+/n7+fv19/X39ff19/X3+fv7/fv59/Hz7evl493b1dfRz83Lyce7d6t7t3Ond7Nl91Pvd3+7Z
9NJl0fv00V7a4W7P7PvObN3Z7uLj3/Tdat7jbuftct907Oft+eD66uN03fzk4/nj4fXr4fTt1VbJWuffWNhg7udo7dhvzVzO11bDVdjWWNRO00jT+17KXdPazeTM5NPWbNjsYdhpbdVk8trs5Nnd0vne3t983tNM
ymp363jTTspse9bqfNv9etBd2fjjaNtte8xZz23rz1vY32/NV89t6OVyyk7IZNnre+jg51jLXuDTZMxwc8NP2dJZ2ulq5OLhaspf6d110FrNctt25dNkd9jpcuHcfddo2OJm1GXMWd/YX+zRTtbLRMRsUsdk+ebN
WNzQSMf3W9LjWtfbV9/GTnjDWW3f0lXS2V7c1GzWbO7HScrVUtnPUdnp1WFxvUliw1tTxmxXvU16wVDWWcJM3MtN4Nl0XMFExdNEydBM1t7pXuXVYPbV3WLMTchvWc/jVs7gT8ld9e/x5W9qzWHr6dXZdOHQffrL
TuPNVlnEZvnR2FvazWDg78th9efqaVrFVH3CVnPGYXnR2Vzb1WN68Nxb127U6fvO3UzC8UjBfmHWzVLV3NL8XMvcUV/CWFrLXOJ5z+tbvl1lx2lezOlbzm9wz1Tm2HR6z9tWx3hfx/ReydpTyulm2+nnc+Xaa+rc
3mXd0WvXetjv/Nhv5N5s39/q79/i7+Tn1l7R5WvV+/bk6ebv4uf+4+zifN/f7e3u5Gzg6mjg7O9679po7tnt5dvg6uDo5ezh29/h2Nrj3tzl9vjo2Pd+19NWP1FvPzdK1O1L17e83ODAykY7RlNEPErb0eDbxL/N
7eneZkpJVVpSVPvV1t3Yz9LpbG1sXVNWYWxsdefc3OPj4eZ8ac6pqupyvbs8KTZHOC42dsvb1MO4u9Nraf5PPT1KWldU7svHzNTPzt5gUlVaVE9Ua+bj5NzU093we3dqXVhcZW1ve+vg3uPo6+z8btKqpsF7z75S
LSwwODk3PWDBuMHGv7zGYEhFR0U/P0t609PRysTG1PxhXFhOSkxXbvHq3tTP0dvp+3RmWlVXXml0/ezh29zf6+/+deCsn6vAft9rOy0lJi8+RkhvvLKwucXO2vZJOjc7RE1SaNnEvr/Hz9bhZk5GRktRWWD62c7M
ztTa4PVlV1JTWFxibu/f2tnc3+XsfGnOp6Kvz2XYVzcrJik0QUhI6Lqys73Hz9lyRjk4PUhNUm7Uw7/CydDV4mJNR0hMUVhf+dnOzc/V2t/zZlhUVVlcYWzy4dvb3N/i6/xsxKWjt2pa0lI0KicrOEZKSOC5sbXA
y8/ZbEQ5OD5LTlBo1MO/w8vR1d5oTkdJTVJXXXrcz87R1tnd62taVlZaXF9o/eXd3N3e4ef1cM+poa3SWdVxOSsnKTE+SUZfv7KxusDHz+xNPDg6QUlMWOfIv7/Eys7W8VhKR0lNUFZj6tXOztDU2N/5YlhVVlha
X2zw4dzb3N7f6vl5uqOluGpn1kwyKCcsN0RIStm5sLS/yc3Ua0Q6OT5ITE9f18S/w8nO0dtvUEhJTFBTWW3f0s7Q1Nfa5HNdV1ZYWlxic+rf3N3d3+HufX23oqa6X3TTSjAoJy03Q0dK17iwtcDIy9NpRDo5PkhL
Tl7XxL/Dyc3P2nNRSUlMT1JYa+HTz9DT1tnieV9YV1haW2Bv7eHd3d3e4ez9dL2kpLP1X9RYNSkmKzU/RkfsvLO1v8fJzv1IPDs+R0lMWt3HwsbKzM3WelVMTE5OT1Vp5NfU1NPT1+F6Y11bWVhaYHLx5+Pe3Nzi
7P9y2qyfqs5Uy8c8KCQoLzU4Plq9sLG6v7u93UQ6Oz49PD9R28rIx8O/wtB7WlZPSERHUWb65tnOy8zU3ur/Y1dRU1leZXDy5d/h5Ojr8n506cW/0Xl07fd+/n7+fv5+/n7+////////////////////////////
////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////
////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////
////////////////////////////////////////////////////////////////////////////////////////////////////////////////fv5+/n7+fv5+/n7+fv5+/n7//37+fv59/Xz8fPt7+nr6efl4
+PvrdlfW+enl7ujw5evo9uR+5XLkZXvr7ddZ29fu3Np7U/Po33j36Xjb8Oxv7fnl5unnauzu89zm393eel/Z9ujn7u129ez27P3u7vXu/uzu6e7v6t/z8u/j//L8+ez68+76+el47vDrdefu9u7q8e7vaepq83Po
3vbZ6uXn5On35fXn9P7q5+7n7/7ieuPn5/Tz7urz9eXm/Ob37ert5vbifN9i6vTre+fq7uDx7nln7+Dr1/Ptbejg5vzabfb37PXm/2zX7PXv3XnYY+53aOt92nZg5HR92HHm3ujv52F47+vw6+p26nbgfOz25d7p
7Ond6X7n3uHtZutpYfLb9Wrh7efl3ODda9vb+/n/ffDxat5w2Hzi7efj72Tl9VZq+eNv3NvX/OHZ0mXq5md8e/505uXicO7g63x239936+/053hy3uL2aN/l8X317PNsX97e7PHo5eVd79jj/eHi5ups4/vu6u/p
4e/h793lbXR3/mf+fNx+9Pj/83rx5ulnanv1cd7mfODX6Pt1dlpGQT5OdnH1z7+8yeJcU1E/Oz1P5NjQzcXCzO5ZUVJNSk1d5dbT1NLR2/pdVldZWl1r6tzZ297j63hlXF5gaG3/7+LZr6Gy0l1MRjItKDFY4tfL
vLW4x11FSUM+O0Ff1cbIycbH0mpNSUpNT1Ns28zLz9bd52xXT09YYW714tjU2ODzd2hgW1teb/zp6ODNp5+1zUpDPDErJTFV0cXAurS1wVI+PDw+PEFUzr6+wcfL1G5LQUFJUV9428zHyNHjdWBXT01QXfzi2tjV
1tvtbF1bWl1ea37k39vYrJynuVM4Ny8sISc497y6urezttVENzM6PD9GecO6uL7K1e5YRD0+Rlv33M/JxMfR91tTT01NUWHp19HS1Nnf/mFWVVdeZXrv3dvY16ucqLtRNzYvLCAnO+K7ubq4s7bcQTYzOz1BRvnB
ubm/zNjyV0M9Pkde79rPyMTI0/5aUk5NTVJk59bR0tXZ4P9fVlRYXWl26t/Y293EoJ6wyTw5My8mIC1Jxrm6urayvVU7Mzc8PkJNz724u8bQ3W5NPj1BT2/m1s7HxszfZ1hTT01OWn3d1dTU1tvraltXWFxfa/vi
3Nre48SfnbriRUc3KiQhNfrPyLywrrjRR0BFPjw+UOnTztHQ0dv3ZmNna3B6////////////////////////////////////////////////////////////////////////////////////////////////////
////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////
////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////
////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////
//////////////////9+/n7+fv5+/n7+fv5+/n7////+fv5+/X39ffx8/Hz7e/t7+3v8fP728PNU2ury3/Tm9ePs5vnjfuZ3525r5fzUXOXT793a7lJ65+D4eeRx3Oztc/P06eLt42vx6/jd4+Lc3/Fc3Ozu5PDr
ePnr9e359Ov47H7s7unt7+zf7/Pw5Pj39v/r+vTv9X7oefDw6njr6vrt7O3y6mfrbvt68Nz62ubn5ebl+uXz6e586+ft6et54n3n5Ojv9+3r7/nm5frp7/Xm8+P84HneZ/Lt7vrt5Pff8ex7aX7e79bu7G7t4OJ+
23t67/Hu6+1k1+nx99x32Wx+82Hpd9v2Xun7btd67N3m7+Vnbe3t7PDlceh04/nw8erd6ers3eX+693h52bucV/63epm4+vo5t3g3G/h1/30e/z76WXecdv06efs4O5o8OZVaHngbd7c1vXm29Fv+99mfXf5b+jm
33b24On+c+Tdeu7s9uj9beDg7mfl4fL8++r0dF3j3Orz6OfhYHvY4Pvm3+nka+b08unv6+Du4+3g3211cvhmfnfd8v3xee948unmamh28W/h4Hr7/fLu5uHd3d3j7nBfVk9MS0tMTlFXXWVufPPq4t3Z1tTU1dfb
4Ov7cGdhX15eXl9iZWhsb3f+9u/r6Obl5ufp7PD3/Xp2cm9ubm5ub3By/OHVzMXCwcTK1/xaTUdFREVISk1PUldcZn7m2tPPzc7P1Nrh7f5waWRgXlxbW1xeYmlz+u7o5ePi4+Tm6Ovu9Px6cm1raWlqa21wdXr/
+ujVy8S+vb/F0O9YS0VBQUNFR0hKTE9YaOzZz8vKy83R2N/q+XJpYFxYVVVWWV5oePDo4t/e3t/g4+br835xa2dkZGVobG92ffr07+3r69/Nxb67vMLOeU1APTw9QERHS05VZOvUy8bFx8vT3/RtY11ZVlNRUlZd
a/Tj3NnZ2tzf5OnxfW5mYF5eYWZtePrx7ero5+jp7fL8eG9tdtPBvLe5w91TQj08Pj9BREVKVXvUx8HBxs3a8G1fWVRPTUxOVmXv3dbT1Nfa3uTud2ZcWFhaXml39Ovm4+Df4ebt/HFqZmZnam1zevnev7SxsLvZ
TDw4Nzk7OjtATeTFvLq9xdHmeF1QSUNBRU1j5NPOzs7Q09robFlQTlBYYXD1597a19jc5v1qYV5eX2Noc/np49/i5u726byusLbHUjw4OTc1ODtG5sS7vL/I1eNsT0U+PkNR9NfOy8rKzdbxWk5LTFFaZ/ri19HQ
1uH+Z11bWVpeafrl3dze4ur3dGhiX2Npds+spa/KQjc1ODgvLz34vLW4wM/S3ltCOTg/VN/TzsnEwsrjVkpJS05SW/3XzMrO2ep4Y1hQUFZo9OHd2tna4vlnXlxeYGVy9OTf37+gobboPjw0LiclNfDCvL25trjN
RDo4PD0+SurBu77Dy9H4TUA+Rk9efdrKxcnR6HhdUktMVGjw39nR0dfncWNbWlZdZfDq3ODaw52ex9tYUC4lIChQW2DFr6y3zFZPSDIvN1T52Mi8tr7XZ1dMPz1DWevezsXBzN5wX1FKSFJi7uXSz83a529mV1NV
X2/64t3V3uO1k6laudA7HSEiPDQzuqqrwLu97zkrND07PvS3uLrDvspSPTxEQUNX0MLGx8fJ6VBKS0tKUPvWztDNztpwWVdSVFFq+9ni0d7SzZicYr7TViIfHy9JNtmvp7LAyOBLLSw4Q0xSw7ezv8zN+Ec5PERN
VfvHv8HL0dlmTERKTldf48/Kz9Pd5F9VTldXYWzh2dXa3Ouxlarexeg9IB8fPTw4y62otL/P2EosLTZFSFnGt7G/ytDpSDk7Qk5Wdcq/v8rS3HBOQ0dNWl/q0snM097maFdNUlhjbevZ1dXf5bqWodLG+0glHx0z
RTjss6etvNvlYjArLz5QW9O8r7jH2e5VPTg7S11x1sS9wc/idVtIREdVZ/HczsnN2e50XVRNU1p+ftvdzt7X+KGXtsjvXTMjHR88PEjLrqitvnPzRy8sL0BY4865sLjF6mVNPjg7S2jfz8O+wM3yYFNJREZUb97X
zcrM2PdjWVNOUlr56tjcz97Y5p6ZuMhOUi8jHCRHQ1nUr6muyU1dRDQtMEnjzM28tbnLWExIQjs9UN7KysfDxdVeTUtLS0xd487Nz9HV42NUTlVXYmng28/d2H3kYqKWrsJNSTcoHR8/WNLItqusv0A9OzYyMETS
u729u73KTz07QUVHWtjAvsTP2u5WR0JJWHfn18zJzt1pXlVUTlhl49vW2djf8WVbV7yWnbXrOzwqIBokOtu+vK2oq8k/NjIzLjFDy7a2t7u8zVE7Nzs+RlLfwry9xc7dZEtAQUhVaeTRyMbK1ulpWk9MTVZo797Y
0NPW637QnZ2wrcJLMicdHy0vP9q7ramtvcl1PjUtLjZHXdi/uLS4wNB7UkE8Oz5LXOjQxcDByNPpZVFKR0lOWm3o1s7Nz9fh82xgW1xdZ2v99sGzv8/e9H1nbnv/dnVtamRhXV1dXV5hZm14+vDq5eHf3t7e3+Hk
6Ozz/XVsaGNhX19gY2dsc3727uvp6Ojq6+7x9fv9fH14e3Z6c3l10cHBv7++v8DK2OZoWk1IQ0JCQUJDRklMT1NbY3fv4dvV0c/Oz9HW3Ob5bF9aVlRUVVhbX2dvfvTt6uno6Onq6uvq6+vt7vT3e3dsbGbaxMTA
wL+/v8fU3nJdTklDQUFAQkNGSUxPVFxjdfLl3djT0c/Q0tXa4e90ZF1YVVRUVlldZG169e3p5+bn5+nq6+zt7e7w8/j9d3Nsa2/Nw8O/wL6/wMzX52lYTEdCQkFBQkNHSk1QV15o/+zg29XS0M/Q09fc5/ltYFtX
VFRVV1tfZ3H+8ezo5+bn6Orq6+zt7e7w9Pt+dHBqamvPxMO/v76/v8rV5GtZTEdCQUBAQUNGSU1QVl1nfO7h3NbS0M/Q0tbb5PVuYltXVFNUV1peZm9+8uzo5ubm6Onr6+3t7u7x8/r+dnFramXxyMTBv7++v8PP
2fdjU0pEQUFAQUJESEtOUlpgbvjp3trU0tDQ0dTY3up+aV5ZVlRUVVhcYWp2+e7q5+bm5+np6+zt7e/v8/X9fXNvamll5MbEwL++vr7Dz9r8X1BJQ0FBP0FCRUhLT1NbY3H36uLe29ra293g5u32fnZycXJ1eX7/
////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////
////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////
////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////
//9+/n7+fv5+/n7+fv5+/n7+fv7///5+/X38e/p49H7qX3nedOP46/fs7+v37fP08v/tZOl63vho2Ozq4eRgY+vs6W/pe+3n9vl47/vl8+h+duz86+Tt4ufnZfjifef07vx88fT28n7t+/D79/Hv7/P06ez69u7u
e/J68Pf59vJ77/n+8/D4/+r98vTt/Oxzfvlw9XTh8+nj8enu6Pjv7vXsfPXt7fPqe+7x++fu7fzy8u797+ry+Ot86vnp+uv37vVs6f3ueuX+6O/w+nVt5fLi5fb9eejn9+znbO5+7P7maOnj8//m8+zpZ+hm9f/s
5Wd46mrl6nnk6fHt+2fy9+z86Hz0+/XsfO774+vt8+fm9/vl5+h2d/Jlcuvjbffq7+zn5eTwedvy9nv4d+pt7/Lx43rk/OXvfmzhYmRv6f704d7n+uPc5mjgc3Z4+nX27Ojzdunq9nf44fP+7fnw72/y5exzfOL0
9nru9/hle+Dq9u/t53xn4uLx+ePv53n67P/t8fPp7O/q8t99dnP5b3R77ud273n1fvzy6X5rcfh6+OH69+f559vg7nT9ZVZMSlBIRE1XX13q0s3NzsfK1d3f7WBWV1RRTlRdX2Z95N/e2tfY3eLj73lqaWNeXmBk
Z2t4+PHs6eTn5+vq9vd1fGtw+ri8cbm7zfx3/kY+O0A/Nz9NTlJvztHOy8TG0tPU5mRbXVJNTlJXVV977ure1tfZ2trf7ft7amFeYF5eYmtwd/bs6Ojk5eXt6/n2bnpoc3a2ul+yuNTh1PJBQDxAOjRDR0JN7tjm
y8bEys3I1PF0clhMT09OTlVlZnXm2tra09Xb3+HscWpmYFtcX2BhbXf29ubm4ebh5+r19XpxbG1oxavtvqrH1dHLQjw9OjYuOz85RGzc8sm9wcLDv83e4PxUSk1LRElOVlVr5N3a0s3Q1NPY5fp6aVtZWVpWXGJq
bfTq5OTd3t/l5Oz4enJtZmXOr37Grc7WzsxIQUQ9OjI9QjlFX3Zk0MTKx8bBzdjU419UWU9ITE9QUF55furb09jV0tbe4uj7aGZgXVldXl9kb3z87efj5uDl4+/pfvZqfnu0vlutvebLymZBTD89NjlGOT1VW1ru
yM3JxcHFz8zR82VmWUtNT0xNUl9fberd3dnS1NnZ2+T0/3NiXl5eW15iaGp49e/r5uLl5Ofm9O55/N+z0uCuzNrNzVZGT0I+OD9FOkVXWFrizNbMyMbN083a/m5tWU5UU09QWWFfc+rj4tvW2tzb3un1+XNlY2Ng
XmJnaG159fbr6uXr5evp+e53+Xq7wFuzv+vOznRIUkdCOz1KPUFYWlr8ztbQy8nM1s/W83BxX1FUV1JSWGNha+/m5d/Z297d3uf093hqZGZiX2JoaG11+ffv6ujp6ujt7/j2d3jduNfes8zbz9BqSk9KQzw/Sj5C
U1hbbdPY1czLytHRz97vfnVeVVlWU1NYXl5kefTs6d7c3t7d3+Xs7fh2bWxpZGNmZ2hqb3h5+/Xu7+zt6e/s3ba7frW10srO2ehORUpIOztHQkBJTlhfYfPi5ubf3uXq7PD5/X7+fv5+/n7+////////////////
///////////////////////////////////////////////////////////////////////////////////////////////////////+/Pfw6uTf3Nvc3uf7Z1pQS0hGRkdKT1lo9eHa1tPT09XY297i6O30/nZu
amViX15eXmBjaG55+e/q5+Tk5Obo6+70+n55dHFvbm5ubm9wcnV4+ufc08zIxcXHy9TpYlBIQ0A/QERITlhm++bd2dbV1NTV1tfa3eLr+29lXlpYWFhaXWJqc/vv6ufk4+Pj5efp7O/2/XlybmtqaWlqbG9zeX76
9urc08vGwsHCx8/mX01FPz4+P0NITldicvHl3tnV0c/Ozs/U2uP1bV9aV1VVV1pdYWhvevjv6ubj4N/g4uXq8Pt3b2toZ2doamxvdHn/+vXx7+vcz8jAvb2/x9dnS0A8Ojo8QEhRXnTr39nTzszLy8zQ2eptXFNP
Tk9SWF5odvXq49/c29rb3ePs/G9nYV9eX2NobXX+9e/r6efn6Ovu9v52b3PfzcO8urzE3FQ/ODY3Oj9KV2ry49vTzcnHx8rR42hUTUpLTVNbZ3jv5t7a19XV2N7qeWZdWlpcX2Zue/bt6eXj4uTn7vl2bWhnZ2ls
cnr79dvBt7KwtcVfPTIuLzU7RVJh9NnLwr28vsbZYEpCP0JHTlpq89/Xz8zLzNHd/V5UT09RV15r/evi3drY2d3l9W5jXVxdYGZufPTs6OXj5eft38a6trO4yVw9My8wNz5KXHvg0srDv7/DzuxVR0JBRUxWZ/bj
2dPOzc3R2/FkV1BPUlhfbPvr4t3b2tve5/ltYl5dXmJpcvzw6+fl5ebr8PfQu7SvsLvkQDItLTE5QlJq69XJwLy8vsnnVEQ+PkJJU2T24NfPzMrKztr8XFFNTU9XX2/z5d3Z19fZ3+x0Y1xaWl1jbXzx6uXi4OPm
7vp3z7evrK27bTktKiswOkRVbuHMwLq4usTlTT87PEBKV2vr2s/JxcXK1n5XTElLT1hkfOjc1tHQ1N3vaFtWVlleZ3bz6ODd3N7m9HJmYl9j8Lmqp6ew+DUpJikuOkNV6Mu7s7G2xWlAODc6QEtZ/dfJv72/yeFY
SERFSVBcdeHUzMnL0eRoV09PUllidevd1tTW3e1tYFtbXGNq++/g2rKhoaW3OichIyozPkV9v7KrrLjlPjQxNjxCUPzKu7a3v9lSQj8/REtV/9PFwMLL4l1OSktNU1722c7LzdfsZlpVVVdda+/d2NXb43tr3Kif
pKxHKCIlLDA4PWi1q6iv00AzMzY7PkZ9wraxuMldRkBAQ0VNcM6/vcLRcVRMS0tMVnPXy8jN235eV1NSVWD829TR2uJ0a1teV2T9p5mfqDsfISs6NjY166umq8o5MjVAPj4/XLywsL5sRkFHR0NFUdK+u8DWZVJQ
TktLUP7PxsfR6GpeWVJRU2bn09DU4O9taFxaWGN24Nyslpqifh4cHSYqMkHKpqCltj8uKy4xNUF7tqyrtNZIOzk5Oj9Rzbq1uMfyTkZCP0NM/svAv8fXdldOSUpNX+XOy8zV429dVFBSWnbi17SXmKC/IBwcJCkv
Pt2on6SvSy8rLTAyPVi6rKuwyk49OTk4PUvXu7W3wt5WSEM/QEhlz8K/xdDuXVBKSEtY7tLLzNDe9GBYT1FUb+/Vx52VnqssHBwgKCs4T7CgoarWNC0sLy84R8muq628akI7Ojg6QmvAt7W9z2lNRkA+RFLcxr/C
y91uV01ISU9s283LztfncVtTTlNc8+DVu5mXoLckHB0kKS07bqufpK5aMi0tMDA6Tr6tq6/EWEA7Ojc7RuS9tre/1WNNRT8+RVrUxb/Ezd9tVUxHSVF82M3Mz9nnbVpRT1Rg797XtZeYob8gHB0kKC083aifpK9N
MS0uLy86U7qsq7DIVkE7OTc8SNm8t7jC12FNRD4/R1/RxcDGzuFsVEtHSlT5183N0NjqblhRTldf6uHVw5uXoLAnHR4kKSs3Va6go618Ni8vMS42R8Ouq6/AbUk+OzY4QHS/uLi/zvJYST89QlHdycLFy9XtX01H
R09m3tLNz9Le715UTlNbfevZ2KmVm6VPHh0fJyguPcWkoKe6QTQvMC4vOme1rKy2zl1HPjg0OknPvLe6xNH8VEQ9PUZi0sfDx8vX8ldKRUlUd9zSzs/R3vxZUk5XXPbu2M2flZ6qMR4eIicnL0K1oKKqyD02MTAs
LzzWsKyuutRiST01MztRybu5vcXP71NBPD5JcdLJxsjK1PVVSEZKWHXe1s7Oz958WFJPWF547tvZrJWcpl8fHyEnJiw6yqWhqLhLOzUyLSw3WLetrrbH6FRCODI4Rtm/u7zBydlgRz09RFrezsnHyM3dZk5JSU9c
d+HVzs3S4XNaVlJZWm5+3MadmKKuMycnJyQgKDe9p6isucnXSjYqKjBD2ce+ubW0vd1HOzo8QEZU4MW8vMDL3nFTSEJBSVnw2M/LysvT6mBTTk5QVl9+39bR1djh625hz6CeqrNBOTkxJyImLEvIx722sq+61kM8
Ojk5OD1X0L+9vb7AxNheSEFBREdMWOzQyMfKzdLcfFtRT1JYXml86+De4Ofs9f14dHN3e37////45N7a19TR0NPe6XVhVk1JRUVDQ0NFSEtPUlpgbvfn3djSz87P0NPZ3+9yY1tWU1JTVlldZW598+zp5+fn6err
6+zs7O3u7/X8enBsaGZjZW/MwsC+vr2+v8vW6mRUSkRAQD9AQkRHS05RV15neu/j3NbSz8/P0NXa5PZsX1lUUlFTVlpfaHX47ejm5ebn6uvt7e7t7u3v8Pf8eHFraGRkY+7Gwr++vb2+wc7Y+l9PSEI/QD9AQkVI
TE9TWl9s/evf2tTRz8/P0dbc6P9oXVdTUVFTV1tha3r06+fl5ebn6uvt7e7t7u7w8fn+dW9paGNlY+bFwr++vb29ws7ZfF1OR0I/QD9BQkVJTE9TWmBt++rf2tTRz87P0dbd6XxmXFdTUVFTV1tibHzx6ubl5Obo
6uvt7e7u7u7v8vn/dW5qZmRjZHzJwb+9vby9v8zW72BRSUM/QD9AQkRIS09SWF5pfe7h29XRz87P0NXb5flqXlhTUVFTVlpfanj06+fl5OXn6uzt7u7u7e7u8vX+em5sZmViZWTcw8G+vr29vsTR3W5aTEZBP0A/
QUNGSU1QVFthb/rp39nT0M7Oz9LX3ux2Y1tVUlFRVFhdZG/87unm5eXn6evt7u7u7u3u7vL3fHZsamRkYWZn1sLAvb28vb7G0uBpWEtFQD9AQEJDR0pNUFVbYW/56N7Y0s/Ozs/S19/ucWFaVFFQUVRYXWZy+u3o
5eXl5+rs7e7u7u7t7u7z93t1bGlkZGFmZdzCwL29vLy9w9DdbVpMRkA/QD9BQ0ZJTU9UWl9t/erf2dPPzs7O0dbd7HViWlVRUFFTWF1lb/vu6Obk5ufq6+3u7u7t7e3u8Ph+dG1oZWFjYmhtzsC/vb28vb7J1ulh
VElEP0BAQEJESEtOUFVcY3L35t3W0c/Nzs/T2eL1bF5YU1BQUlVaX2l49Ovn5uXn6Ovs7u7u7e3s7e7y+npwa2ZkYWNjaXvKv768vby9v8vY715RSEM/QEBAQkRIS05QVlxkdPPj29XQzs3Oz9PZ5PppXFZSUFBS
Vlpga3vy6+fl5efp6+3u7u7t7Ozs7vP8eW5qZWRjZmdtcNrKy8rLzM/S3Ov2dnBucHb+fv5+/n7+////////////////////////////////////////////////////////////////////////////////////
////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////
////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////
////////////////fv5+/n7+fvz18/Lq6eLh5Onv3e54b2VqXFVTUU9MS0pPV0tMYFddam75ZujU2+Ln1c/T1fXP0e7e2t1s8v3u+1lpYmxeXl9cZFlwaGBmbHf5fP566ebu6ujn2c7Pzs3PzcnX1dre6O9faF1V
VktPTU5KTUtQUU9WV2Zicv7+4eDg2tbY19jU2dXa3d/l4uzoZv1ua2dnWWFpXWVeamlrZ3Z5dnn+/vb9+vj7+/79fvjx9vbv7vhuZ2BgWlJSVlhYWWR56eXh2dTV2t7f5vNuZWRgXVtdYmhscfzt6Ofm4+Pn7PL5
fnNtamtra2xvd3z8+PHv7e/v8/L7/Hl7c3Zvd3y/scHEvr7Hb05DRz40NTs/REZY6MvKy8TBw8za5fthTkpLTE1NU2P05N7Wz8/S2d3j82teXFtaWFtibn306eDd3uDl5+/8bmxnZ2NmaHB0/Prs7L6qtr+7vsVZ
PjU6OS4wOERUXeLKu7zCxMfM6lZKSUlDQ0lWb/Xe0srJzdHX3fZfVlNUUlNZZ/zq4tvX19vg6fN1ZV9dX19kaX316Ori5uHu7HX4crGkt7q8vc5AMCw0LysvO2PZz8W6srrE0Nx9Sj47P0RES13azMvJxsTL2v9l
W09KSk5YXmzu2dLS1NbZ4flnX1xaV1pfbnvu6N7d3ePm7vlvaGRkY8Wlrbu3vL9WOCwvMystNEjo18q+s7a/yNXfVUE7PUJCRlHzz8vJx8PG0eZtX1RMSUtSWmF939TR0tTW2+pwYV1aWFdcZXb76ePc3d3m5/f/
aGhfaGO4o7G6uLzFSjMrMjAqLjdP39PHu7G4wMrW6k4/Oz5CQUdW4s3KycbCyNXuaV1RSklNVVtm99zS0dPV193xbF9dWVhYXmh79ujg3N3f5uv1c2piZWFn0Kapu7e8vWg6LS40LCwyQ+3Yy7+0tL3H1NxcQzw8
QUJETnfQy8nHw8XO4XBhVkxJSlFZX3Xj1dHR1NXa53RjXVtXWFpkb/jt4t3c3uPo8f9raGBnYGrbqKe8try9/TstLTUsKzJA9tbLwLWzvcXT3F9EOzxBQkRNbtHLycfExM7fcWFWTElKT1VabefX09PR0tbh+G9k
XFdWWl5lbPfo397c3d7n7f52aWVgZWi3o7zLrbDYOz47MCUnNjcvPM/Ay8KwsbrGxslpQz0+OjY5RU1TctPLzczJzNbf5/hqY2VnaGx0fH7////////////////////////////////////////67uXd19LPz9DT
1tvf5u32e29oYFxYVFFQT1BRUlRWWFtdYGZtd/nu6OPg3t3d3d3d3t/g4+fr7/b+eHFta2lnZmVkZGVmZ2lrbXB0eX779/Pw7u3r5N7Y08/Nzc3P09jd5Oz4d2xkXllVUU9OTk5PUFJUV1pcX2ZtevXr5eDe3Nvb
29vc3N7f4ubq7/d+dm9raWZlY2JiYmNkZmdqbG90ev769fHu7evm3tnUz83Mzc7R1tvg6fJ8b2dfWlZST05OTk5PUVNWWFteZGt1+u3n4d7c29va29vc3d7g5Ojt9P14cGxpZ2VjYmJiYmNkZmlrbnJ4ffv28u/t
6N/a1M/NzMzOz9Ta3+bu/HJpYFtXU09OTU1OT1BSVVdaXWJpcf3v6OLe3dvb2trb3Nze4OXp7vT8e3ZycG5vbm9vcnF3dnt6/n39ff3/fObr6vDc3+TU3t7c2/b4e19UWs9dR2ReREFZSkFKTkxMW2JcbuLa3d3O
1tXQ09Pc09jZ5t3g/u3qamd4YWFfbFhmZV94VXRlVF5h4V9x2fft5c3K2cbHx8vNxs/T3Np75/xkWVJJR0VJTERJSk5BTU5VV2NbZvZuydXOyMTNz8XU2djv6mZe2up6cOPzW2lcWVdUU1BZWmBsfHTx7uLp8PHO
ytvFy8fLzMnO1drW5e94bl1dWVtYW15iaGlxd/59/n1+fH59/31+fv38+/z9/v//fn58e3p7ff/+/v79/Pv8/f7/fn19fX19fX3//v3jwLCttuZDQ1NWPzMvNUFe3M3Ly8nBvb7NXkdFTE9KREVOb9fLycvO0tPT
3G9SSktRWVxcYv/e08/Q19/q8/9tXlZTV19ufffu5d7b29/q+3BraWZrz7euss1KRFVkSjcwND1Q9dbOzc3Gvr3G9UxHTVNORkRKXuLQzMzQ1tjY3O9hV1ddZWlqbXj27u7w9vv+////////////////////////
///////szb25vc3g28/VZkc+P0RGQT4/RVNr8Oni183Ix8vR2Nvd53JdVVRWV1ZVV11q/e7q5uDc2tve5Ort9H5vaGRjZWZmaGtxfPfx7+3r6urr7vP4/OnJu7rC2OHT0e5OQD5AQ0RBQERNZunf3tjOyMfL09vf
5PRnWFJRVFdXV1pjeuzk4t/c2dnc4uvz/HdsZGBfYmVnam13+u/s6+rp6ert8fp+eHV9zbm2vc7azs3rTj89Pj9BPz5CT3bf3trRycXHzNbe5e5uWlBOUVVXV1pjfOjf3t3b2dnc5O/9d25nYF5fYmdqbnb67uno
6Ojp6uzy/Hp0cG5s7L+0uMPSzcrbWkQ7Oz0/Pjw+S2nh2tbOycTEy9Xh6fliU01MTlFVWFxs7N3a2djX19nf7XtuaWNdW1xeZWtxfPTq5OLj5efq7vd7cG1ra2lq9L+zuMPOy8vfWEI6Oj0+PDtCU3zd19HKxcLH
0Nzn92dVTUtMUFRXXGzr3NjW1dTU2N/tfG5mXltaW15iZ25+7ujk4+Hi4+ju+X1zbmloZ2lszbK2w8S+vtBdRz9BPjc0OEFISlN01MnIyMbDxc7a6fxlVExLTU5OUFlq9enf2NPS1dja3ef7bWdhXVtaXV9kaXP5
7Onl49/i5Orr9PpycnS+sMTJu7rGb1pPST00Nzw6OTxKWGT018fDx8bExM3b5PdnVE5OTUxMT1leZ33k29nX1NPW29/k7ndqZWBdXFxfX2Vqef3w7eXl4+bk6Or1yLHNzbW+zuvbb0s/O0I8NTxBQ0JOdurc1sjE
ysnHytTd3vliVlZUTU1QVVVaaHz06d7Y2tnY2N3h5u19bmtmYF5gX2JibW19e+zx5e7f6Le1ebC0zMjJ0E9KQ0M5Mz03NTw/RUZf8NzVycHHxMHGzM/R5HFjXFJMT01MTlNXWmf/8eXd19nW1dfb3d/r8nt0ZmZf
YVxjXmhgeGjvdre3Z6u4yrm/yljvT0A4PTsvOjs4PEZTTX7Xz8/Gv8jEwsjP09b5aWNZT01QTExQVlZdbnz24tza2tXX2dvc4uzvfW9maV9hXWVcal9+fbLG3qnGwbrB1F/lTEA6QDkxPjo5P0pQT+fZ0s/Ew8rD
xMvP0Nl7b2VYT09QS05RVFVfbXL14t7d2dbZ2trd4uvreXVobF5kXmVda2B4aLm5Wau5zrbAymHbV0I9PzwxPDw2PURMSW3f3tPIw8vDwsnMzdHq9nxdVFNTTE1RUFNZZWV37OPi29jZ2tjb3+Pm8Hp5amlfZ11l
XW1eefuyy9+oz8G4xNZr3EtCPEM4MkA5OEBGSkvw7N7SxsfMwcbLzM3W7Ol1XFZXUkxQUlBUXGFje+3q4tzZ3Nna2+Df6e58/GprYmheZV9oYXFpvrVNrLbes8LJbNhbRT5APjE9PTQ+QkhHYevy1svFzcPCysrK
z9/l7GBbWFVNT1FOUVhcXWv48ene29va1tzc39/t7f18aG1jZV5mX2Zkbmq/tU2ttNGyvb7yyvlMREVBMj08Mzw+Q0FTbmTez8jPw8HJx8fM19ndb2VfWU5PUk1PU1dXYG11+ePf3tvX29rb3ePo6v57bW5haF9n
XWxec/iz1Nqo7b63ytPw2EpHP0Y3NkQ2OEVARkt5aOrPyszKv8nJxsvU2tv9YmRZUU9TTk5VVlhdbm/85+Df3Nja29rc4+Xr8HN7aWpgaV5lX2thdW66vVWpws6zx8tuzlBGQ0Q7NEE6NkJAREdmZ2zUz8zOwsfL
x8rR2Njnam5eVlFVUE5UVVZaZWpu7+fl39vb3drc3uTj7/R6fGhsZGleaWBrYnhtur1VqsbRtMvOb89NR0VEOzVDOjdEQERIZWFs1NHNzsLJy8bK0dXX6G95X1hUVlBOVVRWWmRlbvTq6t/d3N7Z3d7i4u3y+Xlu
a2pjZmJpYG5ldtixW7yrWrW8yd/V30ZMREM2PEA0PUI+RE5kVOTY0tHIxM3Gxs3Q0Njy9HlcWVdWTlNUUVVbX19z+/Tq39/e3Nre3d/j6uzyeHhtbGNrYWlfb2B467Pmzallu7fL1djUSE9HRDg7QzU7RD1CS1xP
+tva1MvGzsfGzc7O1ebn72FfXFhPVFVQVFpbXWl2de7n4+Lc3N7d3eHm5u72fH5rbmZsX21gb2B9frXW4KhsvrXO0dfPSVNJRTo7RTU7RTtBSlZNc9/k1c3Hz8fFzc3M097f52doX1pSVlVPVVhZWmZqbvrq6+Pf
3d/b3d/i4urx8X52bXBla2NsX3Biee20+cypV7m3z9HP1klaSUU6PUM0PUQ7Q0tRTPvp6tbNytDGx87LzNTc2+hrcGJaVVhUUFdXVlpjY2r98+/m3+Df3N3h3uPm7ut+/nB1Z2xmaWNrZm5qwLtLrL9+r8vP2MtU
T1NFPzpGOjdIPD5JTkxa43nb0svPy8XNzcrP2dncenluXllZWFBVWFVYXmFjcfv86uXh493e39/e5+fs7n78dG9ra2lmamdraW/OtkyzslCvwdPQyWlPYUdDO0Q9NUY+O0hLSlDvaePWzs/NxczNyc7V1dju+fxh
XVpaUlVXVFZcXV5qdHf06ejj393h3d/g5+Tt7/n8c3Juamloa2VtaG/Ut1C4sFWzv8/Ux/FOdEtFPkU+OEY+PEdKSU1+Xv7b1dbQyM7Nyc7T0tTj5udvaWVfV1paVVdbW1tiaGd2+/bv5ubk4d/k4OTl7Onz9X7/
cXFubGtqbGlsz7pNtbdXs8PT0cdtVv1LR0BIPjpJPT1ISUdOb1n+3traz8rQzcnO0M/T393jeXRsY1pdWlZYW1haX2Fhb3N6+Ovr6eLj4+Lg5+Xp6vTtfvpyfmp1aHJld2fAxlGt0NGwzcnGxWTi/E9MRkw8P0g6
P0VDQk9UT3P+6uLR0NTLy8/NzNHX097o6flsZWZbWltZV1pcWl5kZWp2fPvv6evl5OLm4eXm6enu8PT8fXd4bXRqcN27Ur60ULe/3dHJb1XxS0lDSEA7SD49R0dES11OY/Pz5tnQ18/M0M/N0NjU2efl7XlrbWJc
XlxZW11cXGNiZmx1dPrx7+3n5+fl5efo5+3s8e999XX9bf5ofXO+3uuvasW51tPJ0FXfYU1MS0k9R0Y9RUdFRVVOUGprc+7Z3tvP0tTPztXV0tze3uX4+n5oZmZfXV5eXF5gX2Jnamp0e3347+7u6Oro6ubs6e3q
9e3783n3cf1vxsdXtMzgusvS1MpubnRaTkhSQz9LQUBFSURJU05VXXJr+N3h3dTT1tPP1dXU193e3uvw8ntta2phYGJfXl9hX2JmaGlvc3d89vjw7+vt6uvq7Ovs7u7w8fn1fv3bv2PGunrBxM3ZztNs/mtfTE5V
Q0dKRURHS0VLT1BRWmpicOnp5t3X29jU1tfX1dvd3N/o6uz6eHhuaWdnZGFkY2JjZ2Zoa25vdHp+/vjz8+/v7O/s7+zy7PXt++7xw9P5uNTQwsvP28/leWNuWklUTkRJSEdDSUpISk5TT1llY2zz6ejh2drZ19TX
19XX2tvc3+bn7Pb/fHNramllY2RkYmNlZWZoa2xucnh4/vz2+PDx7vDt7u3v7fDu887GasHC3cXKy9nS1eZ+bPpWT1xNS0tMSkdLS0tKT1FPVlxdYGr/fPPo4uLf29zc29rb3dzd4OLk5uzu8fl9eXZvbWxraWlp
aWhqamtrbm9wcnd5e339+vr29vP28fTx3sXl1b7YzsrM0dvW2ulp+3dTWVlPTkxPS0pMTkxMUVJRVVpeXmRxdnz47O3s6efp6urq7e7v8fX4+fz9fv59/X38fvz8+3V9efz1//h7fnTxb/v8eu7//f/7an3y8vt9
89jLz8/Sz8zQ2uXtb3dfU09MTk5MS0lOUllYWV935Oze4tXa1tbX2dTY3eN4+O7ybGRdZl5iVWNdcGRmZmn9c9525PHp5uDt4ufk6vj2e/nx82hta3xkcWpybXxrbfxy8v3XzczOzs3NzNPf6vdwcFZMTkxOS0tI
TE5VV1Zfa+/p4+HY2NHY1djV19nk6fPx+G1mYWJdZVVkWmJnZmdqd33u+O/p5Ovc6Ojr4+7p7P31+HV2aWx0dGtldGj8Ynh3+XT3/d7NzczPzc/K0dft9XBqX09NTE1MTEZKTlRZVFtl7+Xq4N3W0tPa09XX2eDo
7+p1+2djXV9gXF9XZWRhbWRzfu359evo3urj5+bp5+7p7/d8c3F5dmdwb2pncWv9Z3l39H30+uvLzMvOzs7J0tznePNuWVFMTE5LSkhLTlVWVltj8+ff493Y09LW1tnT29zs7ex7+GNgXl9fX1tcXWNqZGxuevPu
7+7l59/n6OPs4fDo/Pz3dv5ubGt3bGtobHJxb3dz9nr79f7m1cvNzc7OzMzX3/t4/F5VTExOTExISU1RVVZaX3vq6+Pb2dXS1dfW2dbb5Ovz9v5uYF5fX2BdWF9hZ2Rqan328fDu6une6t/q5ebt8u/39Xv7d2dt
aHNudmJ4bHhsb3367/f6fu3uz8/Mzs/Qzs7f4fx6bl5VT05OTktLS1BVV1ddY3fk6uDf2NfU19rW2tjd6PTv+XttYGRfZF9cXltsZW1kb3726njn6+Ts4Ozg6uvr9Op38G/1b21tdmlubWZ6cP5rfXL7+vP3+O7v
7NrR0s/a1dTT3ep3dXhgW1FSU1VPT09TWl1dXW536e3l4d3a3Nre2t3f5OP2+P91c2ppXm1eZmBeb2tzZ3tx7/b+6+7i7efz6evu6f7tfv38cnV4cW1wb25weW54d3Z+ffP89vzu+PPz5NnX1d3Z3tfd6fNwem1j
WVZXW1dWVFVgXWFganv56Pfi6N3e3t7n3uTh6u1+9Hp1bmlpa2loamBraHtrfXX+7Xfse+Xw6+X85v3u+PbzffN2/W5udHtxdnVvc3p3dPl38Hz5/PH79PN+7+vd29vh3t7e4ev+fm9vbFxZW15bXVpYX2NnaGt0
9+jv7+rl3+Tg6uXi7Od38f1+fm5sanVna2tocHFueXF7fv3y9+366frw6frt++38+X78fXd9dXZ6fnZ6dn16fn3///7+/v7//n7+fv5+/n7+fv5+////////////////////////////////////////////////
////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////
////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////
////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////
////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////////
//////////////////////////////////////////////////////////////////////////////////////////////////////////8=
`;
